"""Who may connect and what they may do: SASL, Kerberos, authorisation, delegation tokens."""

from snakka.config.key import (
    BOOLEAN,
    CLASS,
    DAY_MS,
    DOUBLE,
    HIGH,
    HOUR_MS,
    INT,
    KIB,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    MINUTE_MS,
    PASSWORD,
    PER_BROKER,
    SHORT,
    STRING,
)
from snakka.config.rules import ANY_STRING, at_least

# fmt: off
AUTHORISATION = (
    STRING("authorizer.class.name", "", LOW, ANY_STRING,
        doc="Kafka's StandardAuthorizer by its Java name turns ACLs on; empty allows everything."),
    CLASS("principal.builder.class",
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        MEDIUM, None, PER_BROKER, unused=True,
        doc="A Java class that makes principals. There is no JVM to load another one."),
    STRING("security.providers", None, LOW, unused=True,
        doc="Java classes that bring security algorithms. There is no JVM to load them."),
)

# Read by the StandardAuthorizer, which describes itself: Kafka's broker does not know them.
AUTHORIZER = (
    STRING("super.users", "", MEDIUM,
        doc="Principals that may do everything, as `User:a;User:b`."),
    BOOLEAN("allow.everyone.if.no.acl.found", False, MEDIUM,
        doc="Allow everything on what no ACL speaks of."),
)

TOKENS = (
    PASSWORD("delegation.token.secret.key", None, MEDIUM,
        doc="What tokens are signed with, the same on all nodes; without it there are no tokens."),
    LONG("delegation.token.expiry.time.ms", DAY_MS, MEDIUM, at_least(1),
        doc="How long a token is good until it has to be renewed."),
    LONG("delegation.token.max.lifetime.ms", 7 * DAY_MS, MEDIUM, at_least(1),
        doc="How long a token is good at most, however often it is renewed."),
    LONG("delegation.token.expiry.check.interval.ms", HOUR_MS, LOW, at_least(1),
        doc="How often expired tokens are removed."),
)

SASL = (
    LIST("sasl.enabled.mechanisms", ("GSSAPI",), MEDIUM, None, PER_BROKER,
        doc="The mechanisms that clients may log in with."),
    STRING("sasl.mechanism.inter.broker.protocol", "GSSAPI", MEDIUM, None, PER_BROKER,
        doc="The mechanism that brokers log in to each other with."),
    STRING("sasl.mechanism.controller.protocol", "GSSAPI", HIGH,
        doc="The mechanism that nodes log in to controllers with."),
    PASSWORD("sasl.jaas.config", None, MEDIUM, None, PER_BROKER,
        doc="The login of a listener and mechanism, in JAAS's notation."),
    INT("sasl.server.max.receive.size", 512 * KIB, MEDIUM,
        doc="The largest frame that is read before a client has logged in."),
    LONG("connections.max.reauth.ms", 0, MEDIUM,
        doc="A session has to log in again after this time; 0 is never."),
    CLASS("sasl.server.callback.handler.class", None, MEDIUM, unused=True,
        doc="A Java class that checks logins. There is no JVM to load it."),
    CLASS("sasl.client.callback.handler.class", None, MEDIUM, unused=True,
        doc="A Java class that answers challenges. There is no JVM to load it."),
    CLASS("sasl.login.callback.handler.class", None, MEDIUM, unused=True,
        doc="A Java class that fetches credentials. There is no JVM to load it."),
    CLASS("sasl.login.class", None, MEDIUM, unused=True,
        doc="A Java class that logs in. There is no JVM to load it."),
    DOUBLE("sasl.login.refresh.window.factor", 0.8, MEDIUM, None, PER_BROKER,
        doc="A login is renewed when this share of its life has passed."),
    DOUBLE("sasl.login.refresh.window.jitter", 0.05, MEDIUM, None, PER_BROKER,
        doc="How much chance is added to that, as a share of its life."),
    SHORT("sasl.login.refresh.min.period.seconds", 60, MEDIUM, None, PER_BROKER,
        doc="The least time between two renewals."),
    SHORT("sasl.login.refresh.buffer.seconds", 300, MEDIUM, None, PER_BROKER,
        doc="How long before its end a login is renewed at the latest."),
    INT("sasl.login.connect.timeout.ms", None, LOW,
        doc="How long a connection to the provider of logins may take to be made."),
    INT("sasl.login.read.timeout.ms", None, LOW,
        doc="How long the provider of logins may take to answer."),
    LONG("sasl.login.retry.backoff.ms", 100, LOW,
        doc="How long to wait after a first failure of the provider."),
    LONG("sasl.login.retry.backoff.max.ms", 10_000, LOW,
        doc="How long to wait at most after failures in a row."),
)

KERBEROS = (
    STRING("sasl.kerberos.service.name", None, MEDIUM, None, PER_BROKER,
        doc="The name of the Kerberos service that the brokers are."),
    LIST("sasl.kerberos.principal.to.local.rules", ("DEFAULT",), MEDIUM, None, PER_BROKER,
        doc="How a Kerberos principal becomes a short name; the first rule that fits counts."),
    STRING("sasl.kerberos.kinit.cmd", "/usr/bin/kinit", MEDIUM, None, PER_BROKER, unused=True,
        doc="The program that gets tickets. The system's Kerberos does it here."),
    DOUBLE("sasl.kerberos.ticket.renew.window.factor", 0.8, MEDIUM, None, PER_BROKER, unused=True,
        doc="When a ticket is renewed, as a share of its life."),
    DOUBLE("sasl.kerberos.ticket.renew.jitter", 0.05, MEDIUM, None, PER_BROKER, unused=True,
        doc="How much chance is added to that."),
    LONG("sasl.kerberos.min.time.before.relogin", MINUTE_MS, MEDIUM, None, PER_BROKER, unused=True,
        doc="The least time between two renewals, in milliseconds."),
)
# fmt: on

KEYS = (*AUTHORISATION, *AUTHORIZER, *TOKENS, *SASL, *KERBEROS)
