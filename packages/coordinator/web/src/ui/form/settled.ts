import { useEffect, useState } from 'preact/hooks';

/** As long as most people pause between two letters. */
const PAUSE_MS = 250;

/** What has been typed, once no more of it comes: every letter of it would be a question else. */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
