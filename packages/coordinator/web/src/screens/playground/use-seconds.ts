import { useEffect, useState } from 'preact/hooks';

const SECOND_MS = 1_000;

/** Whole seconds since its component appeared. */
export function useSeconds(): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((one) => one + 1), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return seconds;
}
