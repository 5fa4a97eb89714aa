import { describe, expect, it } from 'vitest';
import { setAt } from '@/ui/definition/edit';
import { plainValue, readYaml } from '@/ui/definition/yaml';
import { stepsOf } from '@/ui/graph/steps';
import { TEMPLATES } from './templates';

describe('templates', () => {
  it('have an id, steps with targets, and only known references', () => {
    for (const { name, definition } of TEMPLATES) {
      const value = plainValue(readYaml(definition)) as { id: string };
      expect(value.id, name).toMatch(/^my_/);
      const steps = stepsOf(value);
      expect(steps.length, name).toBeGreaterThan(0);
      for (const step of steps) expect(step.target, name).not.toBe('');
    }
  });
  it('take another id in place', () => {
    for (const { definition } of TEMPLATES) {
      const text = setAt(definition, ['id'], 'orders');
      expect(text).toBe(definition.replace(/^id: .*$/m, 'id: orders'));
    }
  });
});
