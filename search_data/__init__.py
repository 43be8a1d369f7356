"""Programs that make the files of numbers in `directory_server/search/data/`, from public sources."""
