import { useEffect, useState } from 'preact/hooks';

const SECOND_MS = 1_000;

/** How many whole seconds whatever shows them has been there. */
export function useSeconds(): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((one) => one + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return seconds;
}
