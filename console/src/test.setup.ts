/** Runs before every unit test: what happy-dom lacks. */

import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

afterEach(cleanup);
