"""Properties of Kafka's Java client, as its tools take them, as arguments of the Python client.

Secrets go from the file to the client, and nowhere else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import javaproperties

from waterline.checker.kafka.deployed.deployment import BadConfig
from waterline.checker.kafka.deployed.text_file import CONFIG_BYTES_MAX, bytes_of, require_size

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_JAAS = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_STORES = {"ssl.truststore": "ssl_cafile", "ssl.keystore": "ssl_certfile"}


def client_arguments(path: Path | None) -> dict[str, Any]:
    """Return the file's properties as keyword arguments. Raises `BadConfig`, without values."""
    if path is None:
        return {}
    content = bytes_of(path)
    require_size(path, len(content), CONFIG_BYTES_MAX)
    try:
        read = javaproperties.loads(content.decode("iso-8859-1"))
    except ValueError:
        raise BadConfig(f"{path} is no .properties file; write \\ as \\\\") from None
    said = {key: value.strip() for key, value in read.items()}
    found: dict[str, Any] = {}
    protocol = said.get("security.protocol", "PLAINTEXT")
    if protocol not in _PROTOCOLS:
        raise BadConfig(f"{path.name}: security.protocol must be one of {', '.join(_PROTOCOLS)}")
    found["security_protocol"] = protocol
    if protocol.startswith("SASL"):
        found |= _sasl(path, said)
    if protocol.endswith("SSL"):
        found |= _ssl(path, said)
    return found


def _sasl(path: Path, said: dict[str, str]) -> dict[str, Any]:
    mechanism = said.get("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISMS:
        raise BadConfig(
            f"{path.name}: sasl.mechanism {mechanism} is not supported here; "
            f"it must be one of {', '.join(_MECHANISMS)}"
        )
    jaas = dict(_JAAS.findall(said.get("sasl.jaas.config", "")))
    if not {"username", "password"} <= jaas.keys():
        raise BadConfig(f'{path.name}: sasl.jaas.config needs username="..." and password="..."')
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": jaas["username"],
        "sasl_plain_password": jaas["password"],
    }


def _ssl(path: Path, said: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for store, argument in _STORES.items():
        location = said.get(f"{store}.location")
        if location is None:
            continue
        if said.get(f"{store}.type", "JKS").upper() != "PEM":
            raise BadConfig(
                f"{path.name}: {store}.type must be PEM here; convert it with keytool and openssl, "
                f"and set {store}.type=PEM"
            )
        found[argument] = location
        if argument == "ssl_certfile":
            found["ssl_keyfile"] = location
    if password := said.get("ssl.key.password"):
        found["ssl_password"] = password
    if said.get("ssl.endpoint.identification.algorithm", "https") == "":
        found["ssl_check_hostname"] = False
    return found
