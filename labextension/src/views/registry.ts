/** The views, in the order of their tabs. One more view is one file and one line here. */
import { BudgetBar } from './BudgetBar';
import { CompactionDiff } from './CompactionDiff';
import { SegmentList } from './SegmentList';
import { Timeline } from './Timeline';
import { Trace } from './Trace';
import { WhatIf } from './WhatIf';
import type { View } from './view';

export const VIEWS: readonly View[] = [
  { id: 'budget', title: 'Budget', draw: BudgetBar },
  { id: 'segments', title: 'Segments', draw: SegmentList },
  { id: 'timeline', title: 'Timeline', draw: Timeline },
  { id: 'diff', title: 'Cleanups', draw: CompactionDiff },
  { id: 'whatif', title: 'What if', draw: WhatIf },
  { id: 'trace', title: 'Trace', draw: Trace }
];
