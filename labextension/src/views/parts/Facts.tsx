/** Facts of what left: which survived, were lost or invented; to be looked at by what became of them. */
import { useState } from 'preact/hooks';
import type { Asker } from '../channel';
import type { Fact } from '../doc';
import { grouped, line } from '../format';
import { Address } from './Address';
import { Button } from './Button';
import { BOUND, FATES, TOLD } from './diff';
import { Dim } from './Dim';
import { Icon } from './Icon';
import { LeftOut } from './LeftOut';
import { Some } from './Some';

const FEW = 12; // ► facts shown before the rest is unfolded
const LOOKS = { kept: 'e-ok', lost: 'e-stop', invented: 'e-warn' };

export function Facts({ facts, ask, left }: { facts: readonly Fact[]; ask: Asker; left?: number }) {
  const [only, choose] = useState<Fact['fate'] | ''>('');
  const by = (fate: string) => facts.filter(fact => fact.fate === fate);
  return (
    <div class="e-view e-facts">
      <div class="e-row" role="group" aria-label="Facts">
        <b>Facts</b>
        <Button pressed={!only} onClick={() => choose('')}>
          all {grouped(facts.length)}
        </Button>
        {FATES.map(fate => (
          <Button key={fate} pressed={only === fate} busy={!by(fate).length} onClick={() => choose(fate)}>
            <span class={LOOKS[fate]}>
              <Icon name={fate} />
            </span>{' '}
            {fate} {grouped(by(fate).length)}
          </Button>
        ))}
      </div>
      <Some key={only} of={only ? by(only) : FATES.flatMap(by)} most={FEW} more="more facts">
        {some => (
          <ul>
            {some.map(({ fate, text, where }) => (
              <li>
                <span class={`e-fate ${LOOKS[fate]}`}>
                  <Icon name={fate} /> {fate}
                </span>
                <span>
                  <code>{line(text, 80)}</code> <small>{TOLD[fate]}</small>{' '}
                  {fate === 'lost' && where ? (
                    <Address of={where} ask={ask} />
                  ) : (
                    <small>{line(where, 160)}</small>
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Some>
      <LeftOut of={left} what="fact" many="facts, of all cleanups," />
      <Dim>{BOUND}</Dim>
    </div>
  );
}
