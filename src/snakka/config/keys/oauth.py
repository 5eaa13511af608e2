"""OAUTHBEARER: which tokens are accepted, and how this node gets its own (KIP-768, KIP-1139)."""

from snakka.config.key import (
    BOOLEAN,
    CLASS,
    HIGH,
    HOUR_MS,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PASSWORD,
    STRING,
)
from snakka.config.rules import between, one_of

# fmt: off
ACCEPTING = (
    STRING("sasl.oauthbearer.jwks.endpoint.url", None, MEDIUM,
        doc="Where the keys are that tokens are checked with: an https or a file URL."),
    LONG("sasl.oauthbearer.jwks.endpoint.refresh.ms", HOUR_MS, LOW,
        doc="How often those keys are fetched anew."),
    LONG("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", 100, LOW,
        doc="How long to wait after a first failure to fetch them."),
    LONG("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", 10_000, LOW,
        doc="How long to wait at most after failures in a row."),
    LIST("sasl.oauthbearer.expected.audience", (), HIGH,
        doc="A token has to be meant for one of these; empty does not look."),
    STRING("sasl.oauthbearer.expected.issuer", None, HIGH,
        doc="A token has to come from here; without it, that is not looked at."),
    INT("sasl.oauthbearer.clock.skew.seconds", 30, LOW,
        doc="How far the issuer's clock may be off."),
    STRING("sasl.oauthbearer.scope.claim.name", "scope", LOW,
        doc="The claim that holds the scope."),
    STRING("sasl.oauthbearer.sub.claim.name", "sub", LOW,
        doc="The claim that holds the principal."),
    CLASS("sasl.oauthbearer.jwt.validator.class",
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", MEDIUM, unused=True,
        doc="A Java class that checks tokens. There is no JVM to load another one."),
)

GETTING = (
    STRING("sasl.oauthbearer.token.endpoint.url", None, MEDIUM,
        doc="Where this node gets its own tokens."),
    STRING("sasl.oauthbearer.scope", None, MEDIUM,
        doc="The scope to ask for."),
    STRING("sasl.oauthbearer.client.credentials.client.id", None, MEDIUM,
        doc="Who this node is to the issuer."),
    PASSWORD("sasl.oauthbearer.client.credentials.client.secret", None, MEDIUM,
        doc="The secret that goes with it."),
    CLASS("sasl.oauthbearer.jwt.retriever.class",
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", MEDIUM, unused=True,
        doc="A Java class that fetches tokens. There is no JVM to load another one."),
)

# Instead of a secret, the node may show the issuer an assertion that it signs itself.
ASSERTING = (
    STRING("sasl.oauthbearer.assertion.file", None, MEDIUM,
        doc="A file with a finished assertion, which is read anew when it changes."),
    STRING("sasl.oauthbearer.assertion.template.file", None, MEDIUM,
        doc="A JSON file with headers and claims to begin an assertion with."),
    STRING("sasl.oauthbearer.assertion.private.key.file", None, MEDIUM,
        doc="The key, as PEM, that assertions are signed with."),
    PASSWORD("sasl.oauthbearer.assertion.private.key.passphrase", None, MEDIUM,
        doc="The password of that key."),
    STRING("sasl.oauthbearer.assertion.algorithm", "RS256", MEDIUM,
        one_of("ES256", "RS256", ignores_case=True),
        doc="The algorithm that assertions are signed with."),
    STRING("sasl.oauthbearer.assertion.claim.aud", None, MEDIUM,
        doc="Whom assertions are meant for."),
    STRING("sasl.oauthbearer.assertion.claim.iss", None, MEDIUM,
        doc="Whom assertions come from."),
    STRING("sasl.oauthbearer.assertion.claim.sub", None, MEDIUM,
        doc="Whom assertions speak of."),
    INT("sasl.oauthbearer.assertion.claim.exp.seconds", 300, LOW, between(0, 86_400),
        doc="How long an assertion is good."),
    INT("sasl.oauthbearer.assertion.claim.nbf.seconds", 60, LOW, between(0, 3600),
        doc="How long before its making an assertion is good already, for clocks that differ."),
    BOOLEAN("sasl.oauthbearer.assertion.claim.jti.include", False, MEDIUM,
        doc="Give each assertion an id of its own."),
)
# fmt: on

KEYS = (*ACCEPTING, *GETTING, *ASSERTING)
