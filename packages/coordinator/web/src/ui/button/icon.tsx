import sprite from '../../../generated/icons.svg?url';

/** A decorative icon beside a word, or in a button that has a label. */
export function Icon({ name }: { readonly name: string }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}
