"""The one settings file; everything that differs between installations is read from the environment.

| name | default | what it is |
|---|---|---|
| DATABASE_URL | embedded | postgresql://user:password@host:port/database |
| MAKEGOOD_DATA | .data | the data folder: secrets, and the embedded database if there is one |
| MAKEGOOD_POOLED | 0 | 1 where DATABASE_URL leads through a transaction pooler; `up` finds out by itself |
| MAKEGOOD_ENV | | comma-separated names of environment variables that manifests may read as env.NAME |
| ALLOWED_HOSTS | loopback | comma-separated host names the console answers to |
| MAKEGOOD_ORIGINS | | comma-separated https:// origins of a proxy before the console |
| MAKEGOOD_HTTPS | 0 | 1 behind TLS: secure cookies, redirect to https, HSTS |
| FOUR_EYES | required | required, or when_possible: a single person may act, journaled as alone |
| MAKEGOOD_SECOND_FACTOR | offered | offered, or required: nobody decides without a second factor |
| MAKEGOOD_SESSION_HOURS | 12 | a session ends so long after a password or code was last entered in it |
| MAKEGOOD_ALLOW_PRIVATE_HOSTS | 1 | 0 forbids tools to call loopback and private addresses |
| MAKEGOOD_MAX_BODY | 262144 | the largest request body in bytes |
| MAKEGOOD_LEAST_FREE | 256 | MB of disk below which nothing new is begun; on a small disk at most 15 % of it |
| MAKEGOOD_SECRETS | | a folder of mounted files: the secret NAME lies in the file NAME |
| MAKEGOOD_SECRET_PROVIDERS | the environment, then files | comma-separated dotted paths of classes that hold secrets |
| MAKEGOOD_SECRET_<NAME> | | the secret NAME itself; MAKEGOOD_SECRET_<NAME>_FILE names the file that holds it |
| MAKEGOOD_SMTP_HOST | | where mail goes out |
| MAKEGOOD_SMTP_PORT | 25 | its port |
| MAKEGOOD_SMTP_TLS | none | none, starttls or tls |
| MAKEGOOD_SMTP_USER | | the login there; its password is the secret SMTP_PASSWORD |
| MAKEGOOD_SMTP_FROM | makegood@localhost | the sender of mails that name none |
| MAKEGOOD_BIND | 127.0.0.1:8000 | where gunicorn listens; `up` takes loopback and its port instead |
| MAKEGOOD_WEB_PROCESSES | 2 | processes of the web server |
| MAKEGOOD_WEB_THREADS | 32 | threads of each: a request that waits for a run holds one |
| MAKEGOOD_WORKERS | 2 | worker processes of one qcluster |
| MAKEGOOD_NOTICES | | who is told by mail, chat or web hook: comma-separated role=address or team=address |
| MAKEGOOD_MESSAGES | | a folder of texts to customers, beside those of the program: docs/messages.md |
| MAKEGOOD_URL | | the http(s) address of the console, for links in notices |
| MAKEGOOD_LOG | text | text or json, on stderr |
"""

from __future__ import annotations

import os
from typing import Any

import django_stubs_ext
import structlog
from csp.constants import NONE, SELF

from config import database, languages, notices
from config.house import folder, postgres
from config.house.errors import SetupError

django_stubs_ext.monkeypatch()


def _names(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def _number(name: str, default: int, *, least: int) -> int:
    text = os.environ.get(name, "") or str(default)
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise SetupError(
            f"{name} must be a whole number of at least {least}.",
            setting=name,
            value=text,
            way_out=f"Set it to a number, or unset it for {default}.",
        )
    return int(text)


def _one_of(name: str, *allowed: str) -> str:
    """The first of the allowed words is the default."""
    text = os.environ.get(name, "") or allowed[0]
    if text not in allowed:
        raise SetupError(
            f"{name} must be one of: {', '.join(allowed)}.", setting=name, value=text, way_out="Set it to one of these."
        )
    return text


BASE_DIR = folder.ROOT
DATA_FOLDER = folder.data_folder()

# Stock debug pages show settings and stack variables to whoever meets an error; they are never on.
DEBUG = False
SECRET_KEY = folder.secret("secret-key")
INSTALL_SECRET = folder.secret("install-secret")
ALLOWED_HOSTS = _names("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _names("MAKEGOOD_ORIGINS")

MAKEGOOD_POOLED = _one_of(database.POOLED, "0", "1") == "1"
MAKEGOOD_ENV = _names("MAKEGOOD_ENV")
MAKEGOOD_ALLOW_PRIVATE_HOSTS = _one_of("MAKEGOOD_ALLOW_PRIVATE_HOSTS", "1", "0") == "1"
MAKEGOOD_MAX_BODY = _number("MAKEGOOD_MAX_BODY", 256 * 1024, least=1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAKEGOOD_MAX_BODY
FILE_UPLOAD_HANDLERS = ["repairs.uploads.Bounded"]
DATA_UPLOAD_MAX_NUMBER_FILES = 1
LEAST_FREE = _number("MAKEGOOD_LEAST_FREE", 256, least=0) * 2**20  # bytes
NOTICES = notices.receivers(os.environ.get(notices.SETTING, ""))
MESSAGES = os.environ.get("MAKEGOOD_MESSAGES", "")
MAKEGOOD_URL = notices.base(os.environ.get(notices.BASE, ""))
SECOND_FACTOR = _one_of("MAKEGOOD_SECOND_FACTOR", "offered", "required")
FOUR_EYES = _one_of("FOUR_EYES", "required", "when_possible")

SECRET_PROVIDERS = _names(
    "MAKEGOOD_SECRET_PROVIDERS", "workflows.tools.providers.Environment,workflows.tools.providers.Files"
)

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_q",
    "axes",
    "csp",
    "django_htmx",
    "workflows",
    "repairs",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.languages.Language",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "repairs.zone.ZoneOfRequest",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# The address of the embedded server is known once it runs: manage.py starts or joins it for the commands that need it.
DATABASES = {
    "default": database.settings_of(os.environ.get("DATABASE_URL", "") or postgres.known_url() or database.NOWHERE)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "/"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours: long enough to end guessing, short enough for a person who mistyped
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "console/locked.html"
AXES_VERBOSE = False
# Axes keeps what was posted with a failed try; these fields hold passwords and codes, mistyped by one letter.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "proof", "code"]
AXES_SENSITIVE_PARAMETERS += ["old_password", "new_password1", "new_password2"]

LANGUAGE_CODE = "en"
USE_I18N = True
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGES = languages.languages(BASE_DIR / "locale")
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic: the files are found where they lie when the web process starts

SESSION_COOKIE_AGE = _number("MAKEGOOD_SESSION_HOURS", 12, least=1) * 3600
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "repairs.views.errors.stale_form"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
HTTPS = _one_of("MAKEGOOD_HTTPS", "0", "1") == "1"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/"]  # probes come from inside, without TLS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None

# Agents' text is hostile input in this console: nothing inline, nothing evaluated, nothing from elsewhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
    }
}

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Makegood",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# A message is a doorbell: it is tried once, acknowledged whatever came of it, and never kept.
Q_WORKERS = _number("MAKEGOOD_WORKERS", 2, least=1)
Q_TIMEOUT = 120  # seconds; a drain claims nothing after 40, and the longest call is 60
Q_QUEUE_LIMIT = Q_WORKERS
Q_CLUSTER: dict[str, Any] = {
    "name": "makegood",
    "label": "Queue",
    "orm": "default",
    "workers": Q_WORKERS,
    "queue_limit": Q_QUEUE_LIMIT,
    "timeout": Q_TIMEOUT,
    # A prefetched message waits for those before it; sooner than this a second cluster would take it as lost.
    "retry": (Q_QUEUE_LIMIT // Q_WORKERS + 1) * Q_TIMEOUT + 60,
    "max_attempts": 1,
    "ack_failures": True,
    "save_limit": -1,
    "catch_up": False,
    "poll": 0.5,
    "bulk": 1,
}

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_RENDERERS: dict[str, list[structlog.typing.Processor]] = {
    "text": [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)],
    "json": [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()],
}
structlog.configure(
    processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structlog": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _SHARED,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_RENDERERS[_one_of("MAKEGOOD_LOG", "text", "json")],
            ],
        }
    },
    # Whoever asks for readiness every second is told; the log needn't be.
    "filters": {
        "not of health": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(getattr(record, "request", None), "path", "") != "/health/ready",
        }
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "structlog"},
        "nowhere": {"class": "logging.NullHandler"},
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"level": "INFO"},
        "django.request": {"filters": ["not of health"]},
        "django.server": {"handlers": [], "propagate": True},
        "django-q": {"handlers": [], "propagate": True, "level": "WARNING"},
        "httpx": {"level": "WARNING"},
        # They write addresses, and those of notices hold secrets.
        "apprise": {"handlers": ["nowhere"], "propagate": False, "level": "CRITICAL"},
        "urllib3": {"handlers": ["nowhere"], "propagate": False, "level": "CRITICAL"},
        "axes": {"level": "WARNING"},
    },
}
