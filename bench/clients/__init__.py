"""Load generators: HTTP requests, streams, slow clients, and clients that close their connections."""
