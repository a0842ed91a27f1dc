"""Runs a real JupyterLab with notebooks of one cell each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
from playwright.sync_api import Locator, Page, expect

import plain_http
from page.run_servers import free_port
from waiting import wait_until

OPTIONS = {
    "ServerApp.root_dir": "{folder}",
    "IdentityProvider.token": "",
    "ServerApp.open_browser": "False",
    "ServerApp.allow_root": "True",
    "ServerApp.port_retries": "0",
    "LabApp.user_settings_dir": "{folder}/settings",
    "LabApp.expose_app_in_browser": "True",
}
CODE: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
NO_QUESTIONS = {"fetchNews": "false", "checkForUpdates": False}
KERNEL_READY = "() => window.jupyterapp.shell.currentWidget.sessionContext.ready.then(() => null)"


class JupyterLab:
    """A JupyterLab in its own process, without what the user of this machine has configured."""

    def __init__(self, folder: Path, theme: str = "JupyterLab Light") -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        _set(folder, "notification", NO_QUESTIONS)
        _set(folder, "themes", {"theme": theme})
        options = [f"--{name}={value.format(folder=folder)}" for name, value in OPTIONS.items()]
        own = {
            name: str(folder / name)
            for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        }
        self.log = (folder / "jupyterlab.log").open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", f"--port={self.port}", *options],
            env=os.environ | own | {"JUPYTER_PREFER_ENV_PATH": "1"},
            stdout=self.log,
            stderr=self.log,
        )
        wait_until(self._responds, "JupyterLab")

    def _responds(self) -> bool:
        assert self.process.poll() is None, (self.folder / "jupyterlab.log").read_text(encoding="utf-8")
        try:
            return plain_http.get(f"{self.address}/api", timeout=5).is_success
        except httpx.HTTPError:
            return False

    def notebook(self, name: str, *cells: str) -> str:
        """Write a notebook, and return its address."""
        parts = [{**CODE, "id": f"cell-{number}", "source": cell} for number, cell in enumerate(cells)]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": KERNEL}, "cells": parts}
        (self.folder / f"{name}.ipynb").write_text(json.dumps(content), encoding="utf-8")
        return f"{self.address}/lab/workspaces/{name}/tree/{name}.ipynb?reset"

    def run_first_cell(self, page: Page) -> None:
        """Of the notebook that is open, once its kernel is there: a cell that is run before has no output."""
        expect(page.locator(".jp-CodeCell").first).to_be_visible()
        page.evaluate(KERNEL_READY)
        run_cell(page, 0)

    def stop(self) -> None:
        self.process.terminate()  # with its kernels
        self.process.wait()
        self.log.close()


def _set(folder: Path, plugin: str, values: dict[str, object]) -> None:
    place = folder / "settings" / "@jupyterlab" / "apputils-extension" / f"{plugin}.jupyterlab-settings"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(values), encoding="utf-8")


def run_cell(page: Page, number: int) -> Locator:
    """Run a cell, and return its output."""
    cell = page.locator(".jp-CodeCell").nth(number)
    cell.locator(".jp-Cell-inputArea").click()
    page.keyboard.press("Shift+Enter")
    return cell.locator(".jp-OutputArea-output").last
