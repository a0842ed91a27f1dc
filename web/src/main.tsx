/** The entry point of the page. */

import "./style/page.css";

import { render } from "preact";

import { App } from "./app";
import { openStorage } from "./storage";

const root = document.getElementById("page");
if (root) render(<App storage={openStorage()} />, root);
