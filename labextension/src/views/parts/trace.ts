/** Where a text is and was, in words; as `ethang_nb/views/trace.py` says them. */
import { count, grouped, line } from '../format';

export interface Place {
  where: string;
  title: string;
  in_window: boolean;
  excerpt: string;
  segment: string;
  address: string;
  step: number;
  left: { step: number; how: string; by: string }[];
}

export interface Traced {
  text: string;
  places: Place[];
}

const HOW: Record<string, string> = {
  cut: 'cut as it entered',
  collapse: 'became one line',
  shrink: 'was shrunk',
  squeeze: 'was squeezed',
  evict: 'left',
  remove: 'was taken out'
};

/** In how many places of the window it is, and how many it left. */
export function traced({ text, places }: Traced): string {
  const wanted = `“${line(text, 60)}”`;
  if (!places.length) {
    return `${wanted} is nowhere: neither in the window nor in the record`;
  }
  const here = places.filter(place => place.in_window).length;
  const gone = places.length - here;
  const now = here ? `in ${count(here, 'place')} of the window` : 'no longer in the window';
  return `${wanted} is ${now}${gone ? `; it left ${count(gone, 'place')}` : ''}`;
}

/** When it came, and how it left. */
export function happened({ step, segment, left }: Place): string {
  const came = step ? `came after step ${grouped(step)}` : 'came before step 1';
  const went = left.map(
    ({ step, how, by }) => `${HOW[how] ?? line(how, 40)} at step ${grouped(step)} (${line(by, 40)})`
  );
  return [segment ? came : '', ...went].filter(Boolean).join('; ');
}

/** `excerpt` cut where the text was found: what is found stands at odd places. Spaces and case do not matter. */
export function parted(excerpt: string, text: string): string[] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (!words.length) {
    return [excerpt];
  }
  const plain = words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+');
  return excerpt.split(new RegExp(`(${plain})`, 'iu'));
}
