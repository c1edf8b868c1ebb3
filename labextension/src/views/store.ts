/** Frames of the kernel, applied to the document that views draw. A view that missed one asks for the whole again. */
import type { Frame } from './channel';
import type { DiffHead, Doc, Regret, Segment, StepRow, Trust } from './doc';

/** [id, kind, title, source, trust, step, address, tokens, short, incomplete] of a ledger row. */
type Row = [number, string, string, string, Trust, number | null, string, number, number, boolean];
/** [kind or null, retention, droppable, reason, verdict, why, collapsed] */
type Mark = [string | null, string, boolean, string, string, string, boolean];

interface SegmentsBody {
  parts?: Segment[];
  notes?: Segment[];
  passing?: [number, Segment][];
  head?: number | null;
  drop?: [number, number][];
  rows?: Row[];
  /** Rows from..to-1 have one mark; or the rows from `from` on have one each, in letters counted from "0". */
  marks?: ([from: number, to: number, mark: number] | [from: number, letters: string])[];
  table?: Record<string, Mark>;
  sizes?: [number, number | null][];
  pins?: [number, number][];
}

interface Joined<T> {
  at?: number;
  rows?: T[];
  patch?: [number, T][];
}

/** A step travels as its values alone, in this order. */
const STEP: readonly (keyof StepRow)[] = [
  'step',
  'fill',
  'tokens',
  'events',
  'kinds',
  'before',
  'what',
  'fixed',
  'task',
  'history',
  'output',
  'headroom'
];

interface Body extends Frame {
  set?: Partial<Doc>;
  /** Changes inside values of the document: of objects by key, of lists by index. */
  merge?: Record<string, unknown>;
  segments?: SegmentsBody;
  timeline?: Joined<unknown[]>;
  diffs?: Joined<DiffHead>;
  regrets?: Joined<Regret>;
}

/** The segments as they travel, and the list made of them. */
class Strip {
  #parts: Segment[] = [];
  #notes: Segment[] = [];
  #passing: [number, Segment][] = [];
  #head: number | null = null;
  #rows = new Map<number, Row>();
  #marks = new Map<number, number>();
  #table = new Map<number, Mark>();
  #sizes = new Map<number, number>();
  #pins = new Map<number, number>();
  #drawn = new Map<number, Segment>();
  /** Row numbers in order; rows only ever join at the end, so sorting is rare. */
  #order: number[] = [];

  apply(body: SegmentsBody): void {
    this.#parts = body.parts ?? this.#parts;
    this.#notes = body.notes ?? this.#notes;
    this.#passing = body.passing ?? this.#passing;
    this.#head = body.head === undefined ? this.#head : body.head;
    for (const [from, to] of body.drop ?? []) {
      this.#drop(from, to);
    }
    for (const [number, mark] of Object.entries(body.table ?? {})) {
      this.#table.set(Number(number), mark);
    }
    for (const row of body.rows ?? []) {
      this.#add(row);
    }
    for (const run of body.marks ?? []) {
      this.#mark(run);
    }
    for (const [id, tokens] of body.sizes ?? []) {
      tokens === null ? this.#sizes.delete(id) : this.#sizes.set(id, tokens);
      this.#drawn.delete(id);
    }
    if (body.pins) {
      for (const id of [...this.#pins.keys(), ...body.pins.map(([row]) => row)]) {
        this.#drawn.delete(id);
      }
      this.#pins = new Map(body.pins);
    }
  }

  #mark(run: [number, number, number] | [number, string]): void {
    const from = run[0];
    const to = run.length === 2 ? from + run[1].length : run[1];
    for (let id = from; id < to; id++) {
      this.#marks.set(id, run.length === 2 ? run[1].charCodeAt(id - from) - FIRST_LETTER : run[2]);
      this.#drawn.delete(id);
    }
  }

  /** The segments in the order of assembly. */
  list(): Segment[] {
    const found: Segment[] = [...this.#parts];
    if (this.#head !== null && this.#rows.has(this.#head)) {
      found.push(this.#segment(this.#head));
    }
    found.push(...this.#notes);
    let passing = 0;
    for (const id of this.#order) {
      passing = this.#pass(found, passing, id);
      if (id !== this.#head) {
        found.push(this.#segment(id));
      }
    }
    this.#pass(found, passing, Infinity);
    found.forEach((segment, position) => (segment.position = position));
    return found;
  }

  /** Adds the nudges and notices that `id` comes after. */
  #pass(found: Segment[], from: number, id: number): number {
    let at = from;
    for (let next = this.#passing[at]; next && next[0] <= id; next = this.#passing[++at]) {
      found.push(next[1]);
    }
    return at;
  }

  #add(row: Row): void {
    const id = row[0];
    if (!this.#rows.has(id)) {
      const last = this.#order[this.#order.length - 1] ?? -1;
      this.#order.push(id);
      if (id < last) {
        this.#order.sort((a, b) => a - b);
      }
    }
    this.#rows.set(id, row);
    this.#drawn.delete(id);
  }

  #drop(from: number, to: number): void {
    this.#order = this.#order.filter(id => {
      const stays = id < from || id >= to;
      if (!stays) {
        [this.#rows, this.#marks, this.#sizes, this.#drawn].forEach(known => known.delete(id));
      }
      return stays;
    });
  }

  #segment(id: number): Segment {
    const known = this.#drawn.get(id);
    if (known) {
      return known;
    }
    const [, own, title, source, trust, step, address, tokens, short, incomplete] = this.#rows.get(id)!;
    const mark = this.#table.get(this.#marks.get(id) ?? -1) ?? UNMARKED;
    const [kind, retention, droppable, reason, verdict, why, collapsed] = mark;
    const made: Segment = {
      id: String(id),
      kind: kind ?? own,
      title,
      tokens: collapsed ? short : (this.#sizes.get(id) ?? tokens),
      retention,
      droppable,
      reason,
      source,
      trust,
      position: 0,
      step,
      address,
      collapsed,
      incomplete,
      pin: this.#pins.get(id) ?? null,
      verdict,
      why
    };
    this.#drawn.set(id, made);
    return made;
  }
}

const FIRST_LETTER = 48;
const UNMARKED: Mark = [null, '', false, '', '', '', false];

/**
 * `waiting` until the first document; `live` while a kernel tells; `ended` when its session was closed; `lost` when
 * the kernel is gone; `saved` for a stored document.
 */
export type Status = 'waiting' | 'live' | 'ended' | 'lost' | 'saved';

export class Store {
  doc: Doc | null = null;
  status: Status = 'waiting';
  revision = -1;
  #strip = new Strip();
  #listeners = new Set<() => void>();
  #asking: ReturnType<typeof setTimeout> | undefined;

  /** `resync` asks for the whole document. */
  constructor(private resync: () => void = () => undefined) {}

  /** A document that was stored: nothing will change it. */
  static saved(doc: Doc): Store {
    const store = new Store();
    store.doc = doc;
    store.status = 'saved';
    return store;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  apply(frame: Frame): void {
    const body = frame as Body;
    if (body.base !== null && body.base !== this.revision) {
      if (body.rev > this.revision) {
        this.ask();
      }
      return;
    }
    if (body.base === null) {
      this.#strip = new Strip();
    }
    this.#stopAsking();
    this.revision = body.rev;
    this.doc = this.#next(body);
    this.#tell('live');
  }

  /**
   * Asks for the whole document until one comes, ever more slowly: a kernel that is busy may not hear the first time,
   * since a comm that was just made has no subshell of its own yet.
   */
  ask(wait = 300): void {
    if (this.#asking === undefined && this.status !== 'saved') {
      this.resync();
      this.#asking = setTimeout(() => {
        this.#asking = undefined;
        this.ask(Math.min(2 * wait, 60_000));
      }, wait);
    }
  }

  /** Nobody looks any more. */
  close(): void {
    this.#stopAsking();
    this.#listeners.clear();
  }

  #stopAsking(): void {
    clearTimeout(this.#asking);
    this.#asking = undefined;
  }

  /** What is shown is past from here on. */
  end(status: 'ended' | 'lost'): void {
    this.#stopAsking();
    if (this.status !== 'saved') {
      this.#tell(status);
    }
  }

  #next(body: Body): Doc {
    const old = body.base === null ? null : this.doc;
    if (body.segments) {
      this.#strip.apply(body.segments);
    }
    return {
      ...(merged({ ...old, ...body.set }, body.merge ?? {}) as object),
      segments: body.segments || !old ? this.#strip.list() : old.segments,
      timeline: joined(old?.timeline ?? [], body.timeline, stepRow),
      diffs: joined(old?.diffs ?? [], body.diffs),
      regrets: joined(old?.regrets ?? [], body.regrets)
    } as Doc;
  }

  #tell(status: Status): void {
    this.status = status;
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

/** `now` laid over `old`: key by key where both are objects, index by index where `old` is a list, else instead of it. */
function merged(old: unknown, now: unknown): unknown {
  if (!changes(now) || typeof old !== 'object' || old === null) {
    return now;
  }
  const made = (Array.isArray(old) ? [...old] : { ...old }) as Record<string, unknown>;
  for (const [key, value] of Object.entries(now)) {
    made[key] = merged(made[key], value);
  }
  return made;
}

function changes(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function joined<T, W = T>(
  old: readonly T[],
  change: Joined<W> | undefined,
  read = (row: W) => row as unknown as T
): readonly T[] {
  if (!change) {
    return old;
  }
  const kept = change.rows ? [...old.slice(0, change.at ?? 0), ...change.rows.map(read)] : [...old];
  for (const [index, row] of change.patch ?? []) {
    kept[index] = read(row);
  }
  return kept;
}

function stepRow(values: unknown[]): StepRow {
  return Object.fromEntries(STEP.map((name, at) => [name, values[at]])) as unknown as StepRow;
}
