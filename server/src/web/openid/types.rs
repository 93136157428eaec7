//! The types of `openidconnect` with all claims of the ID token kept.

use std::collections::BTreeMap;

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, Client, ClientId, ClientSecret, EmptyExtraTokenFields, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IdTokenFields, RedirectUrl, StandardErrorResponse, StandardTokenResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Claims that have no meaning of their own in OpenID Connect.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct MoreClaims {
    #[serde(flatten)]
    pub(super) claims: BTreeMap<String, Value>,
}

impl AdditionalClaims for MoreClaims {}

type Fields = IdTokenFields<
    MoreClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

pub(super) type Provider = Client<
    MoreClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// `None` where the provider has no address for tokens.
pub(super) fn provider(
    metadata: CoreProviderMetadata,
    client: ClientId,
    secret: Option<ClientSecret>,
    redirect: RedirectUrl,
) -> Option<Provider> {
    metadata.token_endpoint()?;
    Some(Provider::from_provider_metadata(metadata, client, secret).set_redirect_uri(redirect))
}
