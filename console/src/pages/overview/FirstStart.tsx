/** Three ways to begin, when nothing was done on this server yet. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from '@/i18n/t';
import { CopyText } from '@/ui/copy/CopyText';
import { IconFlame, IconSchema, IconWebhook } from '@/ui/icons';
import classes from './overview.module.css';

export function FirstStart() {
  return (
    <section className={classes.start}>
      <h2>{t('overview.start')}</h2>
      <p className={classes.muted}>{t('overview.startText')}</p>
      <div className={classes.cards}>
        <Card
          icon={<IconSchema size={20} stroke={1.5} />}
          title={t('overview.startWorkflow')}
          text={t('overview.startWorkflowText')}
          command="refire workflow apply -f workflow.yaml"
        >
          <Button component={Link} to={'/workflows' as string} variant="light">
            {t('overview.startWorkflowAction')}
          </Button>
        </Card>
        <Card
          icon={<IconWebhook size={20} stroke={1.5} />}
          title={t('overview.startWebhook')}
          text={t('overview.startWebhookText')}
          command="refire trigger create my_workflow --webhook"
        >
          <Button component={Link} to={'/triggers' as string} variant="light">
            {t('overview.startWebhookAction')}
          </Button>
        </Card>
        <Card
          icon={<IconFlame size={20} stroke={1.5} />}
          title={t('overview.startDemo')}
          text={t('overview.startDemoText')}
          command="refire demo --listen 127.0.0.1:7374"
        />
      </div>
    </section>
  );
}

interface CardProps {
  icon: ReactNode;
  title: string;
  text: string;
  command: string;
  children?: ReactNode;
}

function Card({ icon, title, text, command, children }: CardProps) {
  return (
    <div className={classes.card}>
      <h3>
        {icon} {title}
      </h3>
      <p>{text}</p>
      <CopyText text={command} block />
      {children}
    </div>
  );
}
