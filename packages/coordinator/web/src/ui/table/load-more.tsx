import type { Pages } from '../../api/pages.js';
import { Button } from '../button/button.js';
import { formatCount, plural } from '../text/format.js';
import './load-more.css';

/** More rows at once would make the page slow. */
export const MAX_ROWS = 900;

interface LoadMoreProps {
  readonly pages: Pages<{ readonly id: string }>;
  /** Noun of a row, singular: "job". */
  readonly what: string;
  /** Plural, if it does not end in s. */
  readonly many?: string;
}

/** The foot of a paged list. */
export function LoadMore({ pages, what, many }: LoadMoreProps) {
  const count = pages.data?.length ?? 0;
  if (!pages.hasMore) return <p class="list-foot soft small">{plural(count, what, many)}</p>;
  if (count >= MAX_ROWS) {
    return (
      <p class="list-foot soft small">
        The newest {formatCount(count)} are shown. Filter the list to reach older ones.
      </p>
    );
  }
  return (
    <p class="list-foot soft small">
      {pages.isUnsearched
        ? `${plural(count, what, many)} among those searched so far`
        : `The newest ${formatCount(count)}`}
      <Button small busy={pages.isLoadingMore} onClick={() => void pages.loadMore()}>
        {pages.isUnsearched ? 'Search further back' : 'Load more'}
      </Button>
    </p>
  );
}
