/** The document that every view draws: `Snapshot.to_json()` of Python, version 1. The one place that names its fields. */

export const VERSION = 1;

/** How tokens were counted: by our own tokenizer, by rule of thumb, or by the provider. */
export type How = 'exact' | 'estimated' | 'provider';
export type Trust = 'owner' | 'agent' | 'outside';

export interface WindowSize {
  total: number;
  reserve: number;
  hard: number;
  usable: number;
  effective: number | null;
  max_input: number | null;
  source: string;
}

/** Per mille of usable. */
export interface Levels {
  nudge: number;
  cleanup: number;
  landing: number;
}

export interface Slice {
  name: string;
  tokens: number;
  how: How;
  count: number;
}

export interface Budget {
  used: number;
  fill: number;
  free: number;
  beyond: number;
  unsendable: number;
  over: number;
  room: number;
  p95: number | null;
  how: How;
  unattributed: number;
  fixed: number;
  headroom: number;
  line: string;
  ratio: number;
  cleanup_at: number;
  /** Whether somebody else makes the requests: they are sent however full they are. */
  followed: boolean;
  slices: Slice[];
}

export interface Segment {
  id: string;
  kind: string;
  title: string;
  tokens: number;
  retention: string;
  droppable: boolean;
  reason: string;
  source: string;
  trust: Trust;
  position: number;
  step: number | null;
  address: string;
  collapsed: boolean;
  incomplete: boolean;
  /** The number of the pin it carries, null for none. */
  pin: number | null;
  verdict: string;
  why: string;
}

export interface Price {
  prefix: number;
  again: number;
  saved: number;
  pays_after: number | null;
  read_per_mille: number;
  write_per_mille: number;
  cost: number;
  served: number | null;
}

export interface Plan {
  outcome: string;
  policy: string;
  before: number;
  after: number;
  fill_before: number;
  fill_after: number;
  forced: boolean;
  kept: number;
  note_tokens: number;
  reason: string;
  price: Price | null;
  digest: string;
}

export interface StepRow {
  step: number;
  fill: number;
  tokens: number;
  events: string[];
  kinds: string[];
  before: number | null;
  what: string;
  fixed: number;
  task: number;
  history: number;
  output: number;
  headroom: number;
}

export interface Left {
  title: string;
  tokens: number;
  how: 'squeeze' | 'collapse' | 'shrink' | 'evict' | 'remove';
  address: string;
}

export interface Fact {
  text: string;
  kind: string;
  fate: 'kept' | 'lost' | 'invented';
  where: string;
}

/** What the list of cleanups says of one; the rest of it (`Diff`) is asked for. */
export interface DiffHead {
  step: number;
  outcome: string;
  forced: boolean;
  before: number;
  after: number;
  fill_before: number;
  fill_after: number;
  note_tokens: number;
  note_reference: string;
  note_author: string;
  generation: number;
  digest: string;
  reason: string;
}

export interface Diff extends DiffHead {
  left: Left[];
  note: string;
  facts: Fact[];
  price: Price | null;
}

export interface Pin {
  id: number;
  kind: 'constraint' | 'decision';
  text: string;
  rule: string;
  segment: string;
  core: boolean;
  lifted: string;
}

export interface Regret {
  step: number;
  kind: 'call' | 'read' | 'question' | 'decision';
  cut: number;
  segment: string;
  address: string;
  what: string;
}

/** What a stored document holds only in part: how many rows of it were left out. */
export type LeftOut = Partial<
  Record<
    'segments' | 'timeline' | 'diffs' | 'left' | 'facts' | 'pins' | 'notices' | 'regrets' | 'texts',
    number
  >
>;

export interface Doc {
  version: number;
  name: string;
  model: string;
  model_label: string;
  policy: string;
  /** `running`, `idle`, `live` (a context of somebody's own loop), or how the last run ended. */
  state: string;
  step: number;
  window: WindowSize;
  levels: Levels;
  budget: Budget;
  segments: readonly Segment[];
  plan: Plan;
  timeline: readonly StepRow[];
  diffs: readonly (DiffHead & Partial<Diff>)[];
  pins: Pin[];
  notices: string[];
  regrets: readonly Regret[];
  /** Of a live document only: the end of what the model has said of the reply that is coming. */
  saying?: string;
  /** Of a live document only: why nothing comes, such as that the request is tried again. */
  waiting?: string;
  /** Of a document in a notebook or a page only; a live one is whole. */
  left_out?: LeftOut;
}
