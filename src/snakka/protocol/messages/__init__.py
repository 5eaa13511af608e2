"""One module per API, which declares its request and its response for all versions."""
