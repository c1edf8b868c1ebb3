/** What left in a cleanup, in groups by how; and the note that stands for it. */
import type { Asker } from '../channel';
import type { Diff } from '../doc';
import { grouped, line, opened, tokens, visible } from '../format';
import { Address } from './Address';
import { Breakable } from './Breakable';
import { gone, groups, sections, stands } from './diff';
import { Dim } from './Dim';
import { LeftOut } from './LeftOut';
import { Some } from './Some';

const MANY = 200; // ► rows that are drawn at once
const TITLE = 120; // characters of a title, as in views/limits.py

export function Leaving({ diff, ask, left }: { diff: Diff; ask: Asker; left?: number }) {
  return (
    <div class="e-side">
      <Dim>{opened(gone(diff, Boolean(left)))}</Dim>
      <div class="e-scroll" tabIndex={0} role="region" aria-label="What left the window">
        {groups(diff.left).map(group => (
          <div key={group.how} class="e-block">
            <p class="e-h">
              {group.said}{' '}
              <small>
                {grouped(group.items.length)}, {tokens(group.tokens)}
              </small>
            </p>
            <Some of={group.items} most={MANY} more="more that left">
              {items => (
                <ul>
                  {items.map(({ title, tokens, address }) => (
                    <li>
                      <span class="e-apart e-gone">
                        <span>
                          <Breakable text={line(title, TITLE)} />
                        </span>
                        <span class="e-n e-dim">{grouped(tokens)}</span>
                      </span>
                      {address ? <Address of={address} ask={ask} /> : <small>no address</small>}
                    </li>
                  ))}
                </ul>
              )}
            </Some>
          </div>
        ))}
        <LeftOut of={left} what="that left" many="that left, of all cleanups," />
      </div>
    </div>
  );
}

/** No heading elements: JupyterLab would list them in the notebook's table of contents. */
export function Note({ diff }: { diff: Diff }) {
  return (
    <div class="e-side">
      <Dim>
        {opened(stands(diff))} {diff.note_reference && <code>{line(diff.note_reference, 60)}</code>}
      </Dim>
      <div class="e-scroll" tabIndex={0} role="region" aria-label="The handoff note">
        {sections(diff.note).map(({ head, body }) => (
          <div class="e-block">
            {head && <p class="e-h">{line(head, 80)}</p>}
            <pre class="e-prose">{visible(body)}</pre>
          </div>
        ))}
      </div>
    </div>
  );
}
