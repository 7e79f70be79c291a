/** Filters are part of the address: they survive a reload, and can be sent to somebody. */
import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';

/** A query parameter and its setter; empty values are removed from the URL. */
export function useQuery(name: string): [string, (value: string) => void] {
  const { query, path, route } = useLocation();
  const set = (value: string): void => {
    const next = new URLSearchParams(location.search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    route(next.size === 0 ? path : `${path}?${next}`, true);
  };
  return [query[name] ?? '', set];
}

/** Whether a dialog is open, as a query parameter: a link can open it. */
export function useQueryFlag(name: string): [boolean, (isOn: boolean) => void] {
  const [value, set] = useQuery(name);
  return [value === '1', (isOn) => set(isOn ? '1' : '')];
}

/** Removes all filters. */
export function useClearQuery(): () => void {
  const { path, route } = useLocation();
  return () => route(path, true);
}

/** About as long as most people pause between two letters. */
const PAUSE_MS = 250;

/** The typed text after a pause: otherwise every letter would cause a request. */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
