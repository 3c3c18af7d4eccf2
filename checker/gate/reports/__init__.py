"""What came out, in the formats that people and CI systems read; every one a pure function."""
