"""Starting Spark, quickly and quietly, with workers that run this very Python."""
from __future__ import annotations
import os, sys
from typing import Any

def start_session(master: str) -> Any:
    """A session on `master`. Raises `NoJava` where there is no Java runtime."""
    from checker.java import use_java
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    s = (SparkSession.builder.master(master).appName("waterline")
      .config("spark.ui.enabled","false").config("spark.driver.bindAddress","127.0.0.1").config("spark.driver.host","127.0.0.1")
      .config("spark.ui.showConsoleProgress","false").config("spark.driver.memory","2g").getOrCreate())
    s.sparkContext.setLogLevel("ERROR")
    return s
