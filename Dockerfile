# docker build --target server .    or    --target agent
FROM rust:1.95-bookworm AS build
# For what deploy/build-release.sh links with, and for the module for browsers.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv rustc-web rust-web-src lld && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN deploy/build-release.sh /out

# Without the system's certificates no https address can be trusted: they are not in the slim image.
FROM debian:bookworm-slim AS base
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*

FROM base AS server
RUN useradd --system --uid 10001 --home-dir /data peerless && install -d -o peerless -g peerless -m 750 /data
COPY --from=build /out/peerless /usr/local/bin/peerless
USER peerless
VOLUME /data
EXPOSE 8080
# There is no curl here. 200 when the server has read the whole knowledge; the port is that of CMD below.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --start-interval=1s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["peerless"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--data-dir", "/data"]

# The driver's libraries (libcuda.so.1, libnvidia-ml.so.1) are mounted by the NVIDIA container toolkit.
FROM base AS agent
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=build /out/peerless-agent /usr/local/bin/peerless-agent
ENTRYPOINT ["peerless-agent"]
CMD ["probe"]
