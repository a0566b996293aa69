import datetime

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("repairs", "0024_case_agent"),
        ("workflows", "0031_key_places"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="case",
            name="hurts_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="case",
            name="paused",
            field=models.DurationField(db_default=datetime.timedelta(0), default=datetime.timedelta),
        ),
        migrations.AddField(
            model_name="case",
            name="paused_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="act",
            name="kind",
            field=models.CharField(
                choices=[
                    ("claim", "claim"),
                    ("take_over", "take_over"),
                    ("release", "release"),
                    ("look_again", "look_again"),
                    ("found", "found"),
                    ("absent", "absent"),
                    ("try_again", "try_again"),
                    ("skip", "skip"),
                    ("undo_rest", "undo_rest"),
                    ("undo_again", "undo_again"),
                    ("turn_back", "turn_back"),
                    ("cancel", "cancel"),
                    ("hold", "hold"),
                    ("resume", "resume"),
                    ("propose_write_off", "propose_write_off"),
                    ("decline_write_off", "decline_write_off"),
                    ("write_off", "write_off"),
                    ("remedy", "remedy"),
                    ("call_off", "call_off"),
                    ("snooze", "snooze"),
                    ("wake", "wake"),
                    ("escalate", "escalate"),
                    ("answer", "answer"),
                    ("fact", "fact"),
                    ("guess", "guess"),
                    ("confirm", "confirm"),
                    ("refute", "refute"),
                    ("told", "told"),
                    ("reopen", "reopen"),
                    ("close", "close"),
                    ("hand_over", "hand_over"),
                    ("accept", "accept"),
                    ("decline_hand_over", "decline_hand_over"),
                    ("withdraw_hand_over", "withdraw_hand_over"),
                    ("tick", "tick"),
                    ("deviate", "deviate"),
                    ("correct_time", "correct_time"),
                    ("hurts", "hurts"),
                ],
                max_length=30,
            ),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Q(("paused_since__isnull", True), ("snoozed_until__isnull", False), _connector="OR"),
                name="time_stands_still_only_while_set_aside",
            ),
        ),
    ]
