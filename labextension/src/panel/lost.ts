/**
 * Tells the live views in a notebook or console that the kernel behind them is gone.
 *
 * ipywidgets tells its models only of a restart that a person asks for; a kernel that crashed, was shut down or changed
 * for another would leave old numbers standing as if they were live.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';
import { LOST } from '../views/Root';

const GONE = ['autorestarting', 'restarting', 'dead', 'terminating'];

export function tellViews(place: Widget & { readonly sessionContext: ISessionContext }): void {
  const { sessionContext } = place;
  const tell = () => place.node.querySelectorAll('.eth-live').forEach(view => view.dispatchEvent(new Event(LOST)));
  sessionContext.statusChanged.connect((_, status) => GONE.includes(status) && tell());
  // Not when the first one comes: views may be restored by then.
  sessionContext.kernelChanged.connect((_, { oldValue }) => oldValue && tell());
}
