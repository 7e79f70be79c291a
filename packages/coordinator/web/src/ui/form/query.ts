/** Filters live in the address: they survive a reload, and can be sent to somebody. */
import { useLocation } from 'preact-iso';

/** One parameter and how to set it; what is empty is left out of the address. */
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

/** Takes all filters away. */
export function useClearQuery(): () => void {
  const { path, route } = useLocation();
  return () => route(path, true);
}
