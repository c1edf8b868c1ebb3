/** Controls of a form, each with its label. */
import type { ComponentChildren } from 'preact';
import { line } from '../format';
import { Icon } from './Icon';

interface SelectProps {
  label: string;
  value: string;
  pick: (value: string) => void;
  children: ComponentChildren;
}

export function Select({ label, value, pick, children }: SelectProps) {
  return (
    <select aria-label={label} value={value} onChange={event => pick(event.currentTarget.value)}>
      {children}
    </select>
  );
}

interface OptionsProps {
  of: readonly string[];
  /** What stands before the value of each. */
  as?: string;
  said?: (value: string) => string;
}

export function Options({ of, as = '', said = String }: OptionsProps) {
  return of.map(value => (
    <option key={value} value={as + value}>
      {line(said(value), 40)}
    </option>
  ));
}

interface SearchProps {
  label: string;
  value: string;
  type: (text: string) => void;
  press: (event: KeyboardEvent) => void;
  off?: boolean;
}

export function Search({ label, value, type, press, off }: SearchProps) {
  return (
    <span class="e-search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        disabled={off}
        onInput={event => type(event.currentTarget.value)}
        onKeyDown={press}
      />
    </span>
  );
}

interface SliderProps {
  label: string;
  value: number;
  said: string;
  min: number;
  max: number;
  move: (value: number) => void;
}

export function Slider({ label, said, move, ...range }: SliderProps) {
  return (
    <input
      type="range"
      aria-label={label}
      aria-valuetext={said}
      {...range}
      onInput={event => move(event.currentTarget.valueAsNumber)}
    />
  );
}
