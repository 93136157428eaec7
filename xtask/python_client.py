"""Calls every operation of a running server through a client that openapi-python-client made from its description.

Arguments: the address of the server, the file of its description, the folder of the client. The token comes in
PEERLESS_TOKEN. A new operation fails the run until it stands in CALLS.
"""

import importlib
import json
import os
import pkgutil
import sys
import time

address, description_file, client_folder = sys.argv[1:]
sys.path.insert(0, client_folder)
import peerless_client  # noqa: E402
from peerless_client import models  # noqa: E402

RECORD = "cuda/peer-access-unsupported-by-hardware"
MADE = "cuda/made-by-the-python-client"
SPLIT = "cuda/split-by-the-python-client"
OTHER = "tensorflow/gpu-peer-access-error"
RENAMED = "cuda/renamed-by-the-python-client"
LINE = "RuntimeError: CUDA error: peer access is not supported between these two devices"
UNKNOWN = "zorgblat link 3 failed to train"
REPORT = "0198c0de-0000-7000-8000-000000000001"


def report(report_id):
    return {
        "schema": {"major": 1, "minor": 0},
        "report_id": report_id,
        "node": {"id": "python-client", "hostname": "python-client", "boot_id": None},
        "agent_version": "0.1.0",
        "started_at": "2026-01-02T03:04:05Z",
        "finished_at": "2026-01-02T03:04:06Z",
        "conclusion": {"verdict": "unknown", "reason": "no GPU", "exit_code": 3},
    }


def document(client):
    found = client.get_httpx_client().get(f"/api/v1/records/{RECORD}")
    text = found.text.replace(RECORD, MADE)
    made = json.loads(text)
    made["aliases"] = []
    # The gate refuses a copy of another record.
    made["signature"] = "The generated client could not marmalade its own trapezoid"
    made["signature_zh"] = "生成的客户端无法处理自己的梯形果酱"
    made["regex"] = None
    made["error_code"] = None
    return made


def made_join_token(client):
    made = client.get_httpx_client().post("/api/v1/join-tokens", json={"name": "python client, revoked"})
    return made.json()["tokens"][0]["id"]


def made_person(client):
    order = {"login": "python.client.changed", "role": "editor"}
    return client.get_httpx_client().post("/api/v1/people", json=order).json()["id"]


def made_unmatched(client):
    """A line that no record knows; the server looks at the lines of a report after its answer."""
    log = {"source": "kmsg", "when": "during", "text": "the trapezoid failed to marmalade"}
    sent = {**report("0198c0de-0000-7000-8000-000000000002"), "logs": [log]}
    client.get_httpx_client().post("/api/v1/reports", json=sent)
    for _ in range(100):
        found = client.get_httpx_client().get("/api/v1/unmatched").json()["unmatched"]
        if found:
            return found[0]["id"]
        time.sleep(0.1)
    sys.exit("the unknown line of a report does not come")


# In the order of the calls: what each is asked with, and the status that is expected.
def calls(client):
    model = lambda name, value: getattr(models, name).from_dict(value)  # noqa: E731
    person = made_person(client)
    unknown = made_unmatched(client)
    return {
        "get_health": (200, {}),
        "get_readiness": (200, {}),
        "get_metrics": (200, {}),
        "get_openapi": (200, {}),
        "match_text": (200, {"body": model("MatchRequest", {"text": f"{UNKNOWN}\n{LINE}"})}),
        "match_batch": (200, {"body": model("BatchRequest", {"items": [{"text": LINE}]})}),
        "search_records": (200, {"q": "peer access"}),
        "list_records": (200, {}),
        "get_record": (200, {"id": RECORD}),
        "list_record_revisions": (200, {"id": RECORD}),
        "get_record_graph": (200, {"id": RECORD}),
        "get_record_outcomes": (200, {"id": RECORD}),
        "save_record": (201, {"id": MADE, "body": model("SaveRecordBody", document(client)), "if_none_match": "*"}),
        "review_record": (200, {"id": MADE, "body": model("ReviewBody", {"step": "ask"})}),
        "publish_record": (200, {"id": MADE}),
        "add_record_outcome": (
            200,
            {"id": MADE, "body": model("OutcomeVote", {"tried": "/workarounds/0", "worked": True})},
        ),
        "suggest_correction": (
            202,
            {"id": RECORD, "body": model("SuggestionBody", {"text": "The cause is another one."})},
        ),
        "list_feedback": (200, {}),
        "decide_feedback": (204, {"n": "1", "body": model("FeedbackDecisionBody", {"decision": "take"})}),
        "list_disagreements": (200, {}),
        "diff_record": (200, {"id": MADE, "from_": "1", "to": "1"}),
        "blame_record": (200, {"id": MADE}),
        "comment_record": (
            200,
            {"id": MADE, "body": model("CommentBody", {"pointer": "/signature", "body": "says the client"})},
        ),
        "list_record_comments": (200, {"id": MADE}),
        "list_record_reviews": (200, {"id": MADE}),
        "list_reviews": (200, {}),
        "revert_record": (200, {"id": MADE, "if_match": '"r1"', "body": model("RevertBody", {"revision": 1})}),
        "split_record": (
            201,
            {
                "id": RECORD,
                "body": model(
                    "SplitBody",
                    {"new_id": SPLIT, "revision": 1, "signature": "split by the Python client", "move": ["annex:/codes/0"]},
                ),
            },
        ),
        "rename_record": (200, {"id": MADE, "new_id": RENAMED}),
        "merge_record": (200, {"id": RENAMED, "into": RECORD}),
        "withdraw_record": (200, {"id": OTHER}),
        "try_pattern": (200, {"body": model("WorkbenchRequest", {"lines": [LINE], "propose": True})}),
        "list_unmatched": (200, {}),
        "get_unmatched": (200, {"id": unknown}),
        "change_unmatched": (200, {"id": unknown, "body": model("UnmatchedBody", {"step": "take"})}),
        "list_codes": (200, {}),
        "find_records_of_code": (200, {"code": "error 217"}),
        "list_signatures": (200, {}),
        "get_graph": (200, {}),
        "find_graph_paths": (200, {"from_": RECORD, "to": RECORD}),
        "export_ndjson": (200, {}),
        "export_zip": (200, {}),
        "make_join_tokens": (
            201,
            {"body": model("JoinTokenOrder", {"name": "python client", "count": 2, "adopt": True, "uses": 3, "expires_in": "1h", "labels": {"rack": "r17"}})},
        ),
        "list_join_tokens": (200, {}),
        "revoke_join_token": (204, {"id": made_join_token(client)}),
        "enrol_node": (201, {"body": model("Enrolment", {"node": "python-client-2", "machine": "m"})}),
        "add_report": (201, {"body": model("AddReportBody", report(REPORT))}),
        "add_report_batch": (200, {"body": model("ReportBatch", {"items": [report(REPORT)]})}),
        "list_reports": (200, {}),
        "get_report": (200, {"id": REPORT}),
        "get_fleet": (200, {}),
        "get_facets": (200, {}),
        "list_nodes": (200, {}),
        "get_node": (200, {"id": "python-client"}),
        "get_measurements": (404, {"id": "python-client"}),
        "change_finding": (
            404,
            {"id": "python-client", "body": model("NodeFindingBody", {"finding": RECORD, "step": "acknowledge"})},
        ),
        "get_case": (200, {"id": "python-client"}),
        "get_node_changes": (200, {"id": "python-client"}),
        "get_policy": (200, {"node": "python-client"}),
        "replay_policy": (200, {"body": model("ReplayBody", {"days": 30})}),
        "add_person": (201, {"body": model("NewAccount", {"login": "python.client", "role": "viewer"})}),
        "list_people": (200, {}),
        "set_role": (204, {"id": person, "body": model("NewRole", {"role": "viewer", "operator": True})}),
        "disable_person": (204, {"id": person}),
        "enable_person": (204, {"id": person}),
        "end_sessions": (204, {"id": person}),
        "list_audit": (200, {}),
        "export_audit": (200, {}),
    }


def functions():
    """The module of each operation by its id."""
    found = {}
    import peerless_client.api as api

    for module in pkgutil.walk_packages(api.__path__, "peerless_client.api."):
        if not module.ispkg:
            found[module.name.rsplit(".", 1)[1]] = importlib.import_module(module.name)
    return found


def main():
    with open(description_file, encoding="utf-8") as file:
        described = json.load(file)
    ids = {operation["operationId"] for path in described["paths"].values() for operation in path.values()}
    client = peerless_client.AuthenticatedClient(
        base_url=address, token=os.environ["PEERLESS_TOKEN"], raise_on_unexpected_status=True
    )
    made = functions()
    wanted = calls(client)
    if not ids == set(made) == set(wanted):
        sys.exit(f"not the same operations: {sorted(ids ^ set(made))} {sorted(ids ^ set(wanted))}")
    wrong = 0
    for name, (status, arguments) in wanted.items():
        answer = made[name].sync_detailed(client=client, **arguments)
        is_problem = isinstance(answer.parsed, models.ProblemBody)
        if int(answer.status_code) != status or is_problem != (status >= 400):
            wrong += 1
            print(f"{name}: {int(answer.status_code)} where {status} is expected: {answer.content[:300]!r}")
        if name == "match_text":
            unknown = [line.text for line in answer.parsed.unexplained.lines]
            if unknown != [UNKNOWN]:
                wrong += 1
                print(f"{name}: the lines that no record explains are {unknown}")
    print(f"{len(wanted) - wrong} passed, {wrong} failed")
    sys.exit(1 if wrong else 0)


main()
