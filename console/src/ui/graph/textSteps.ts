/** The steps of a definition's text, as versions have it. The parser comes when it is first needed. */
import { useEffect, useState } from 'react';
import { type GraphStep, stepsOf } from './steps';

export function useTextSteps(text: string | null | undefined): GraphStep[] | undefined {
  const [read, setRead] = useState<{ text: string; steps: GraphStep[] }>();
  useEffect(() => {
    if (!text) return;
    let wanted = true;
    import('../definition/yaml').then(({ plainValue, readYaml }) => {
      if (wanted) setRead({ text, steps: stepsOf(plainValue(readYaml(text))) });
    });
    return () => {
      wanted = false;
    };
  }, [text]);
  return read && read.text === text ? read.steps : undefined;
}
