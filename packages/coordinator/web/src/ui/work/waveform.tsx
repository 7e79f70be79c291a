import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './work.css';

interface WaveformProps {
  /** Of a sound. */
  readonly id: string;
  /** Text alternative. */
  readonly label: string;
  /** Shown until the wave is known, and for sounds that are too long or cannot be read. */
  readonly children: ComponentChildren;
}

/** The wave of a sound, from its samples. They are read when it comes into view. */
export function Waveform({ id, label, children }: WaveformProps) {
  const box = useRef<HTMLSpanElement>(null);
  const [peaks, setPeaks] = useState<readonly number[] | null>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let isShown = true;
    const show = (found: readonly number[] | null): void => {
      if (isShown) setPeaks(found);
    };
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      // Without the script, after an update of the coordinator, the row is as good as with it.
      void import('./peaks.js').then(({ peaksOf }) => peaksOf(id)).then(show, () => undefined);
    });
    observer.observe(element);
    return () => {
      isShown = false;
      observer.disconnect();
    };
  }, [id]);
  return (
    <span ref={box} class="wave">
      {peaks === null ? children : <Wave peaks={peaks} label={label} />}
    </span>
  );
}

/** Of one peak, and of the louder half above the middle. */
const STEP = 3;
const HALF = 20;

function Wave({ peaks, label }: { readonly peaks: readonly number[]; readonly label: string }) {
  const bars = peaks.map((peak, index) => {
    const half = Math.max(0.5, peak * (HALF - 1));
    return `M${index * STEP + STEP / 2} ${HALF - half}v${2 * half}`;
  });
  const size = `0 0 ${peaks.length * STEP} ${2 * HALF}`;
  return (
    <svg viewBox={size} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={bars.join('')} />
    </svg>
  );
}
