"""PySpark over topics: the data source and sink `snakka`, without jars.

`options` says what a user may ask for, `source` and `sink` are what Spark calls. What decides is
pure (`offsets`, `planning`, `admission`, `pushdown`); what asks brokers is `broker` and `fetching`.

Importing this package imports nothing of Spark; its modules need the extra `snakka[spark]`.
"""
