"""The brokers that are compared: one module each."""

from bench.peers.brokers.crabka import Crabka
from bench.peers.brokers.kafka import Kafka
from bench.peers.brokers.kfake import Kfake
from bench.peers.brokers.raw import Raw
from bench.peers.brokers.snakka import Snakka
from bench.peers.brokers.tansu import Tansu
from bench.peers.peer import Peer

_ALL = (Snakka(), Kafka(), Crabka(), Tansu(), Kfake(), Raw())

PEERS: dict[str, Peer] = {each.name: each for each in _ALL}
