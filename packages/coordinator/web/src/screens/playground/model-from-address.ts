/** Selects the model that a link to the playground names: `/playground/image?model=sdxl`. */
import { useEffect } from 'preact/hooks';
import { useQuery } from '../../ui/form/query.js';

export function useModelFromAddress(choose: (model: string) => void): void {
  const [asked] = useQuery('model');
  useEffect(() => {
    if (asked !== '') choose(asked);
  }, [asked]);
}
