"""An operator's jobs over the log segments of a data or tier directory, without a broker."""
