/** English, the source of all keys. One file per page or part; every file has its twin in zh-TW. */

import { alerts } from './alerts';
import { bulk } from './bulk';
import { channels } from './channels';
import { common } from './common';
import { dlq } from './dlq';
import { execution } from './execution';
import { executions } from './executions';
import { fixes } from './fixes';
import { login } from './login';
import { nodes } from './nodes';
import { overview } from './overview';
import { palette } from './palette';
import { retry } from './retry';
import { scheduled } from './scheduled';
import { shell } from './shell';
import { status } from './status';
import { targets } from './targets';
import { tasks } from './tasks';
import { trigger } from './trigger';
import { triggers } from './triggers';
import { webhook } from './webhook';
import { workers } from './workers';
import { workflow } from './workflow';
import { workflows } from './workflows';

export const en = {
  ...bulk,
  ...targets,
  ...channels,
  ...alerts,
  ...common,
  ...dlq,
  ...fixes,
  ...execution,
  ...executions,
  ...login,
  ...nodes,
  ...overview,
  ...palette,
  ...retry,
  ...scheduled,
  ...shell,
  ...status,
  ...tasks,
  ...trigger,
  ...triggers,
  ...webhook,
  ...workers,
  ...workflow,
  ...workflows,
};

export type EnglishMessages = typeof en;
