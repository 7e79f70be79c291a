/** The model that a link to the playground names: `/playground/image?model=sdxl`. */
import { useEffect } from 'preact/hooks';
import { useQuery } from '../../ui/query.js';

export function useWishedModel(choose: (model: string) => void): void {
  const [wished] = useQuery('model');
  useEffect(() => {
    if (wished !== '') choose(wished);
  }, [wished]);
}
