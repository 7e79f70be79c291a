import type { LoadGenerator } from '../load-generator.js';
import type { Samples } from '../samples.js';
import type { BenchBrowser } from './bench-browser.js';

export interface Size {
  /** Number of times that each page is opened; the median is reported. */
  readonly openings: number;
  readonly tabs: number;
  readonly tabsMs: number;
  /** Before anything is counted: the tabs open, and the coordinator's heap finds its size. */
  readonly warmMs: number;
  /** How long the same is watched without tabs. */
  readonly aloneMs: number;
  /** Of one of ten members. */
  readonly jobs: number;
  readonly models: number;
  readonly usageRows: number;
  /** Of each question. */
  readonly reads: number;
}

export interface DashboardRound {
  readonly samples: Samples;
  readonly size: Size;
  readonly generator: LoadGenerator;
  /** Null if there is none: what needs it is not measured. */
  readonly browser: BenchBrowser | null;
  readonly say: (line: string) => void;
}
