import { Page } from '../ui/page.js';
import { Empty } from '../ui/table/states.js';
import { LinkButton } from '../ui/button/button.js';

export function NotFound() {
  return (
    <Page title="Nothing here">
      <Empty title="There is no screen at this address." text="It may have been moved or deleted.">
        <LinkButton href="/">Go home</LinkButton>
      </Empty>
    </Page>
  );
}
