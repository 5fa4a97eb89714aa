/** Runs before every unit test: what happy-dom lacks. */
import { afterEach } from 'vitest';
import { cleanup } from '@testing-library/react';

afterEach(cleanup);
