import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

/** The extension's one entry; the panel and the status item hang on it once they exist. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'ethang-nb:plugin',
  description: "Shows the context window of the active notebook's agent.",
  autoStart: true,
  activate: () => undefined
};

export default plugin;
