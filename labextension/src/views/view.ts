/** What a view is: a component that draws a document. */
import type { ComponentType } from 'preact';
import type { Asker } from './channel';
import type { Doc } from './doc';
import type { Status } from './store';

export interface ViewProps {
  doc: Doc;
  status: Status;
  ask: Asker;
  /** What Python said of this view, such as the text to trace or the step to open. */
  options: Record<string, unknown>;
  /** Leads to a segment, a step or a cleanup of another view, where there is one. */
  go?: (view: string, options: Record<string, unknown>) => void;
}

export interface View {
  /** The name Python knows it by, and its word on a tab. */
  id: string;
  title: string;
  draw: ComponentType<ViewProps>;
}
