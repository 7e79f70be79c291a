import sprite from '../../../generated/icons.svg?url';

/** A picture beside a word, or in a button that has a label: it says nothing by itself. */
export function Icon({ name }: { readonly name: string }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}
