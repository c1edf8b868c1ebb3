/** Cleanups: what left, what stands for it, what became of the facts, and what it cost. The newest is shown first. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Diff, DiffHead, Doc } from './doc';
import { count, grouped, line, opened, percent, tokens } from './format';
import { Address } from './parts/Address';
import { Asked, useAsk } from './parts/Asked';
import { Button } from './parts/Button';
import { headline } from './parts/diff';
import { Dim } from './parts/Dim';
import { Facts } from './parts/Facts';
import { Folded } from './parts/Folded';
import { Select } from './parts/Form';
import { Icon } from './parts/Icon';
import { Leaving, Note } from './parts/Leaving';
import { LeftOut } from './parts/LeftOut';
import { priced, rates } from './parts/plan';
import { silent } from './parts/Standing';
import { Stats } from './parts/Stats';
import { useLed } from './parts/useLed';
import type { ViewProps } from './view';

const CHOICES = 500; // ► cleanups to choose from, the newest

export function CompactionDiff(props: ViewProps) {
  const { doc, status, ask, options, go } = props;
  const { diffs } = doc;
  const newest = diffs.length - 1;
  const [chosen, choose] = useState<number | null>(null);
  if (useLed(newest < 0 ? null : options) && (options.step ?? options.index) !== undefined) {
    choose(wanted(diffs, options));
  }
  const at = Math.min(chosen ?? newest, newest);
  const head = diffs[at];
  const read = useAsk<Diff>(ask, 'diff');
  const here = whole(head);
  const no = silent(status);
  useEffect(() => {
    if (head && !here && !no) {
      read.go({ index: at });
    }
    // Asked again after the next request: then the provider has said what its cache served.
  }, [at, head?.digest, no, doc.step > (head?.step ?? 0)]);
  if (!head) {
    return <None doc={doc} />;
  }
  const got = read.data?.step === head.step && read.data.digest === head.digest ? read.data : null;
  const diff = here ?? got;
  return (
    <section class="e-view e-diff" aria-label="Cleanups">
      <Change diff={head} levels={doc.levels} go={go}>
        {newest > 0 && <Choice heads={diffs} at={at} pick={to => choose(to === newest ? null : to)} />}
      </Change>
      {diff ? (
        <Parts key={`${head.step} ${head.digest}`} diff={diff} {...props} />
      ) : no ? (
        <Dim>What left and what stands for it: {no}</Dim>
      ) : (
        <Asked of={read} doing="reading" />
      )}
      <LeftOut of={doc.left_out?.diffs} what="cleanup" />
      <LeftOut of={doc.left_out?.regrets} what="regret" />
    </section>
  );
}

/** The index that `options` name by index or by step; null for the newest. */
function wanted(heads: readonly DiffHead[], { index, step }: Record<string, unknown>): number | null {
  if (typeof index === 'number') {
    return index < 0 ? heads.length + index : index;
  }
  const found = heads.findIndex(head => head.step === step);
  return found < 0 ? null : found;
}

/** The diff itself where the document holds all of it, as a saved one does. */
function whole(head: (DiffHead & Partial<Diff>) | undefined): Diff | null {
  return head?.left && head.facts && head.note !== undefined ? (head as Diff) : null;
}

function None({ doc: { budget } }: { doc: Doc }) {
  const due = budget.room
    ? `The next is due at ${tokens(budget.cleanup_at)}: room for ${grouped(budget.room)} more.`
    : 'One is due at the next request.';
  return (
    <p class="e-side e-dim">
      No cleanup yet. {due} What leaves then and what stands for it will be shown here.
    </p>
  );
}

interface ChoiceProps {
  heads: readonly DiffHead[];
  at: number;
  pick: (at: number) => void;
}

function Choice({ heads, at, pick }: ChoiceProps) {
  const first = Math.max(0, Math.min(at, heads.length - CHOICES));
  const turn = (to: number, which: string, icon: 'left' | 'right') => (
    <Button tone="quiet" label={`The cleanup ${which} it`} busy={!heads[to]} onClick={() => pick(to)}>
      <Icon name={icon} />
    </Button>
  );
  return (
    <div class="e-row e-choice">
      <Select label="Which cleanup" value={String(at)} pick={value => pick(Number(value))}>
        {heads
          .slice(first)
          .map((head, index) => (
            <option key={index + first} value={String(index + first)}>
              step {grouped(head.step)}, {line(head.outcome, 40)}
            </option>
          ))
          .reverse()}
      </Select>
      {turn(at - 1, 'before', 'left')}
      <small>
        {grouped(at + 1)} of {grouped(heads.length)}
      </small>
      {turn(at + 1, 'after', 'right')}
    </div>
  );
}

interface ChangeProps {
  diff: DiffHead;
  levels: Doc['levels'];
  go: ViewProps['go'];
  children: ComponentChildren;
}

/** Headline, and how far it came: what is left of the fill, and hatched what was freed, with the levels. */
function Change({ diff, levels: { landing, cleanup }, go, children }: ChangeProps) {
  const top = Math.max(1000, diff.fill_before);
  const at = (fill: number) => `${(Math.max(0, fill) * 100) / top}%`;
  return (
    <div>
      <div class="e-row e-apart">
        <strong class="e-big">{opened(headline(diff))}</strong>
        {children}
      </div>
      <div class="e-freed" aria-hidden="true">
        <i class="e-held" style={{ width: at(diff.fill_after) }} />
        <i class="e-hatch" style={{ width: at(diff.fill_before - diff.fill_after) }} />
        {[landing, cleanup].map(level => (
          <i class="e-at-level" style={{ left: at(level) }} />
        ))}
      </div>
      <Dim>
        {percent(diff.fill_before)} → {percent(diff.fill_after)} full: {tokens(diff.before - diff.after)} freed. Marked:
        landing {percent(landing)}, cleanup {percent(cleanup)}. {diff.reason && `Why: ${line(diff.reason, 400)}. `}
        {go && (
          <Button tone="quiet" onClick={() => go('timeline', { step: diff.step })}>
            See step {grouped(diff.step)}
          </Button>
        )}
      </Dim>
    </div>
  );
}

function Parts({ diff, doc, ask }: { diff: Diff } & ViewProps) {
  return (
    <>
      {diff.price && <Stats of={priced(diff.price)} />}
      <div class="e-cols e-two">
        <Leaving diff={diff} ask={ask} left={doc.left_out?.left} />
        <Note diff={diff} />
      </div>
      {diff.facts.length > 0 && <Facts facts={diff.facts} ask={ask} left={doc.left_out?.facts} />}
      <Regrets diff={diff} doc={doc} ask={ask} />
      <Folded head="How it was reckoned">
        {() => (
          <>
            {diff.price && <p>{rates(diff.price)} It informs; it does not decide.</p>}
            {diff.digest && (
              <p>
                digest <code>{line(diff.digest, 80)}</code>
              </p>
            )}
          </>
        )}
      </Folded>
    </>
  );
}

/** What of it was needed again later. */
function Regrets({ diff, doc, ask }: { diff: Diff } & Pick<ViewProps, 'doc' | 'ask'>) {
  const found = doc.regrets.filter(regret => regret.cut === diff.step);
  return found.length ? (
    <div>
      <p class="e-h e-warn">{count(found.length, 'regret')}: needed again after it</p>
      <ul>
        {found.map(({ step, what, address }) => (
          <li>
            step {grouped(step)}: {line(what, 160)} {address && <Address of={address} ask={ask} />}
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}
