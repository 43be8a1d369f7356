"""Words to hits: text analysis and the index in memory."""
