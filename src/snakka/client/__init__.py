"""An asyncio client of Kafka's protocol: connections, the cluster behind them, and what uses it."""
