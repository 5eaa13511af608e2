"""Who sent a request that was forwarded in an Envelope (KIP-590)."""

from snakka.protocol.schema import Message


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    type: str
    name: str
    token_authenticated: bool
