"""`waterline new`, `versions`, `layout`, `kernel`, `export`: models begun, shown, exported."""
