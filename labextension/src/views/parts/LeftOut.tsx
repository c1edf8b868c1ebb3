/** How many rows of a list a stored document leaves out. */
import { count } from '../format';
import { Dim } from './Dim';

export function LeftOut({ of, what, many }: { of: number | undefined; what: string; many?: string }) {
  return of ? (
    <Dim>
      … {count(of, `more ${what}`, many && `more ${many}`)} not stored here
    </Dim>
  ) : null;
}
