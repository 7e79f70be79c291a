import { TextField } from '../../ui/form/field.js';
import { useClearQuery, useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { NoMatch } from '../../ui/table/states.js';
import { EndpointView } from './endpoint-view.js';
import { groupsOf, searched, useDocument } from './open-api.js';
import type { OpenApiDocument } from './open-api.js';
import { Prose } from './prose.js';

/** Every one folded: what is inside is drawn when it is opened. */
export function Endpoints() {
  const openApi = useDocument();
  const [words, setWords] = useQuery('q');
  return (
    <>
      <search>
        <div class="docs-search">
          <TextField label="Search endpoints" type="search" value={words} onValue={setWords} />
        </div>
      </search>
      <Loaded of={openApi} rows={12}>
        {(document) => <Found document={document} words={words} />}
      </Loaded>
    </>
  );
}

function Found({
  document,
  words,
}: {
  readonly document: OpenApiDocument;
  readonly words: string;
}) {
  const clear = useClearQuery();
  const groups = searched(groupsOf(document), words);
  if (groups.length === 0) return <NoMatch what="endpoints" onClear={clear} />;
  return (
    <>
      {groups.map(({ name, description, endpoints }) => (
        <section key={name} class="section">
          <h2>{name}</h2>
          <p class="soft docs-about">
            <Prose text={description} />
          </p>
          <div class="docs-endpoints">
            {endpoints.map((endpoint) => (
              <EndpointView
                key={endpoint.operation.operationId}
                document={document}
                endpoint={endpoint}
              />
            ))}
          </div>
        </section>
      ))}
    </>
  );
}
